// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Status of remote control of the server.
 */
export type RemoteControlConnectionStatus = "disabled" | "connecting" | "connected" | "errored";
