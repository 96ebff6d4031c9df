// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CommandExecOutputStream } from "./CommandExecOutputStream";

/**
 * Params of the notification `command/exec/outputDelta`.
 */
export type CommandExecOutputDeltaNotification = {
/**
 * Whether output was left out here, because there is more than was asked for.
 */
capReached: boolean,
/**
 * What is new, as bytes in base64.
 */
deltaBase64: string,
/**
 * The name that the connection gave to the command.
 */
processId: string,
/**
 * The stream.
 */
stream: CommandExecOutputStream, };
