// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { NetworkApprovalProtocol } from "./NetworkApprovalProtocol";

/**
 * The connection that is to be approved.
 */
export type NetworkApprovalContext = {
/**
 * The host.
 */
host: string,
/**
 * The protocol.
 */
protocol: NetworkApprovalProtocol, };
