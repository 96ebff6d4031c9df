// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FunctionCallOutputBody } from "./FunctionCallOutputBody";

/**
 * The output of a tool that a client gives with its input.
 */
export type TurnToolOutput = {
/**
 * The name.
 */
name: string,
/**
 * The output.
 */
output: FunctionCallOutputBody,
/**
 * The namespace of the tool.
 */
namespace?: string | null,
/**
 * Whether it stays in the history.
 */
retain?: boolean | null, };
