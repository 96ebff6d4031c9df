// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ClientInfo } from "./ClientInfo";
import type { InitializeCapabilities } from "./InitializeCapabilities";

/**
 * Params of `initialize`.
 */
export type InitializeParams = {
/**
 * Name and version of the client.
 */
clientInfo: ClientInfo,
/**
 * Capabilities and wishes of the client.
 */
capabilities?: InitializeCapabilities | null, };
