// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Whether the server can be controlled from afar.
 */
export type RemoteControlConnectionStatus = "disabled" | "connecting" | "connected" | "errored";
