// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Something that a tool server lets read.
 */
export type Resource = {
/**
 * The name.
 */
name: string,
/**
 * Where it is.
 */
uri: string,
/**
 * What the tool server adds for its own use.
 */
_meta?: JsonValue | null,
/**
 * Remarks of the tool server about it.
 */
annotations?: JsonValue | null,
/**
 * What it is, for people.
 */
description?: string | null,
/**
 * Symbols.
 */
icons?: Array<JsonValue> | null,
/**
 * The type of its content.
 */
mimeType?: string | null,
/**
 * How large it is, in bytes.
 */
size?: number | null,
/**
 * The title.
 */
title?: string | null, };
