// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * A pattern of things that a tool server lets read.
 */
export type ResourceTemplate = {
/**
 * The name.
 */
name: string,
/**
 * The pattern.
 */
uriTemplate: string,
/**
 * Remarks of the tool server about it.
 */
annotations?: JsonValue | null,
/**
 * What it is, for people.
 */
description?: string | null,
/**
 * The type of its content.
 */
mimeType?: string | null,
/**
 * The title.
 */
title?: string | null, };
