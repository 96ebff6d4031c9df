// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FunctionCallOutputBody } from "./FunctionCallOutputBody";

/**
 * Output of a tool that a client sends with its input.
 */
export type TurnToolOutput = {
/**
 * Name of the tool.
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
