// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { TextRange } from "./TextRange";

/**
 * Params of the notification `configWarning`.
 */
export type ConfigWarningNotification = {
/**
 * What is wrong.
 */
summary: string,
/**
 * Explanation of the problem.
 */
details?: string | null,
/**
 * Path of the configuration file.
 */
path?: string | null,
/**
 * Range within the file.
 */
range?: TextRange | null, };
