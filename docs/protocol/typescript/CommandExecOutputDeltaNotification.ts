// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CommandExecOutputStream } from "./CommandExecOutputStream";

/**
 * Params of the notification `command/exec/outputDelta`.
 */
export type CommandExecOutputDeltaNotification = {
/**
 * Whether output is missing here because the limit of bytes was reached.
 */
capReached: boolean,
/**
 * New bytes in base64.
 */
deltaBase64: string,
/**
 * Id of the command, chosen by the connection.
 */
processId: string,
/**
 * The stream of the output.
 */
stream: CommandExecOutputStream, };
