// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * A tool in a namespace.
 */
export type DynamicToolNamespaceTool = { "type": "function",
/**
 * Description for the model.
 */
description: string,
/**
 * JSON schema of the arguments.
 */
inputSchema: JsonValue,
/**
 * Name of the function.
 */
name: string,
/**
 * Whether the model sees the tool only after searching for tools.
 */
deferLoading?: boolean | null, };
