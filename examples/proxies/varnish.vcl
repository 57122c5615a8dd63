# For the VCL of Varnish, below its line `vcl 4.1;`.
backend gateway {
  .host = "127.0.0.1";
  .port = "4000";
  .first_byte_timeout = 60s;
  .between_bytes_timeout = 60s;
}

sub vcl_recv {
  if (req.url ~ "^/graphql") {
    return (pass);
  }
}
