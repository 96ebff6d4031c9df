// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * An access program of the model provider for work on security.
 */
export type CyberAccessProgram = "standard" | "daybreakBlue" | "daybreakRed";
