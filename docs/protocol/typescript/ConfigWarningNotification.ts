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
 * More about it.
 */
details?: string | null,
/**
 * The path.
 */
path?: string | null,
/**
 * Where in the file.
 */
range?: TextRange | null, };
