// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ProcessOutputStream } from "./ProcessOutputStream";

/**
 * Params of the notification `process/outputDelta`.
 */
export type ProcessOutputDeltaNotification = {
/**
 * Whether output was left out here, because there is more than was asked for.
 */
capReached: boolean,
/**
 * What is new, as bytes in base64.
 */
deltaBase64: string,
/**
 * The connection's own name for the process.
 */
processHandle: string,
/**
 * The stream.
 */
stream: ProcessOutputStream, };
