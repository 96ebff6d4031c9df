// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How a client, or the server for it, proves to a provider who it is.
 */
export type AuthMode = "apikey" | "chatgpt" | "chatgptAuthTokens" | "headers" | "agentIdentity" | "personalAccessToken" | "bedrockApiKey" | "bedrockAccessKeys";
