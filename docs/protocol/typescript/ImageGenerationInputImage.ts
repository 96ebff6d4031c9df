// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * A picture that another one is made from.
 */
export type ImageGenerationInputImage = {
/**
 * The path.
 */
path: AbsolutePath,
/**
 * The checksum of the picture.
 */
sha256: string, };
