// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How a client becomes known to an authorization server.
 */
export type McpServerOauthClientRegistration = "auto" | "cimd" | "dcr";
