// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FunctionCallOutputBody } from "./FunctionCallOutputBody";

/**
 * The output of a function without an item type of its own.
 */
export type FunctionCallOutputItem = {
/**
 * Id of the item.
 */
id: string,
/**
 * Name of the function.
 */
name: string,
/**
 * The output.
 */
output: FunctionCallOutputBody,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * End time in Unix milliseconds.
 */
completedAtMs?: number | null,
/**
 * The namespace of the tool.
 */
namespace?: string | null, };
