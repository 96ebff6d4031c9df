// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { DynamicToolNamespaceTool } from "./DynamicToolNamespaceTool";
import type { JsonValue } from "./JsonValue";

/**
 * A tool, or a group of tools, that the client runs for the model.
 */
export type DynamicToolSpec = { "type": "function",
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
deferLoading?: boolean | null, } | { "type": "namespace",
/**
 * What it does, for the model.
 */
description: string,
/**
 * The name.
 */
name: string,
/**
 * The tools.
 */
tools: Array<DynamicToolNamespaceTool>, };
