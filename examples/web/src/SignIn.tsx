/** Stands for the page of an identity provider: it lets anyone in. See `dev/sign-in.ts`. */
export function SignIn() {
  return (
    <main className="sign-in">
      <h1>Sign in</h1>
      <form method="post" action="/login">
        <button type="submit" name="user" value="ada">
          Ada (all projects, pins dashboards)
        </button>
        <button type="submit" name="user" value="vera">
          Vera (all projects, reads only)
        </button>
        <button type="submit" name="user" value="bruno">
          Bruno (partner portal only)
        </button>
      </form>
    </main>
  );
}

/** Ends the session. */
export function SignOut() {
  return (
    <form className="sign-out" method="post" action="/logout">
      <button type="submit">Sign out</button>
    </form>
  );
}
