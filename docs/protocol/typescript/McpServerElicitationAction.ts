// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What the user did with a form.
 */
export type McpServerElicitationAction = "accept" | "decline" | "cancel";
