// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FunctionCallOutputBody } from "./FunctionCallOutputBody";

/**
 * The output of a function that has no kind of item of its own.
 */
export type FunctionCallOutputItem = {
/**
 * The id.
 */
id: string,
/**
 * The name.
 */
name: string,
/**
 * The output.
 */
output: FunctionCallOutputBody,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * When it was finished, in Unix milliseconds.
 */
completedAtMs?: number | null,
/**
 * The namespace of the tool.
 */
namespace?: string | null, };
