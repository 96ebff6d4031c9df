// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { DynamicToolNamespaceTool } from "./DynamicToolNamespaceTool";
import type { JsonValue } from "./JsonValue";

/**
 * A tool, or a group of tools, that the client runs for the model.
 */
export type DynamicToolSpec = { "type": "function",
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
deferLoading?: boolean | null, } | { "type": "namespace",
/**
 * Description for the model.
 */
description: string,
/**
 * Name of the namespace.
 */
name: string,
/**
 * The tools.
 */
tools: Array<DynamicToolNamespaceTool>, };
