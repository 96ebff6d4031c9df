// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * A tool in a namespace.
 */
export type DynamicToolNamespaceTool = { "type": "function",
/**
 * What it does, for the model.
 */
description: string,
/**
 * The schema of the arguments.
 */
inputSchema: JsonValue,
/**
 * The name.
 */
name: string,
/**
 * Whether the model is told of it only when it looks for tools.
 */
deferLoading?: boolean | null, };
