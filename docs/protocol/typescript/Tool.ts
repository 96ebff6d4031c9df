// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * A tool of a tool server.
 */
export type Tool = {
/**
 * The schema of the arguments.
 */
inputSchema: JsonValue,
/**
 * The name.
 */
name: string,
/**
 * What the tool server adds for its own use.
 */
_meta?: JsonValue | null,
/**
 * Remarks of the tool server about it.
 */
annotations?: JsonValue | null,
/**
 * What it does, for the model.
 */
description?: string | null,
/**
 * Symbols.
 */
icons?: Array<JsonValue> | null,
/**
 * The schema of the answer.
 */
outputSchema?: JsonValue | null,
/**
 * The name, for people.
 */
title?: string | null, };
