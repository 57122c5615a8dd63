/**
 * The TypeScript source of the types of an OpenAPI 3.1 document, given as YAML text: types only, enumerations as unions.
 * Rejects with every fault of an invalid document.
 */
export declare function typesOf(document: string): Promise<string>;
