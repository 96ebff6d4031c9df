// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ProcessOutputStream } from "./ProcessOutputStream";

/**
 * Params of the notification `process/outputDelta`.
 */
export type ProcessOutputDeltaNotification = {
/**
 * Whether output is missing here because the limit of bytes was reached.
 */
capReached: boolean,
/**
 * New bytes in base64.
 */
deltaBase64: string,
/**
 * Id of the process, chosen by the connection.
 */
processHandle: string,
/**
 * The stream of the output.
 */
stream: ProcessOutputStream, };
