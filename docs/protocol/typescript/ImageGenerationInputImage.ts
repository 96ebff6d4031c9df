// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * An image from which another one is generated.
 */
export type ImageGenerationInputImage = {
/**
 * Path of the image.
 */
path: AbsolutePath,
/**
 * SHA-256 checksum of the image.
 */
sha256: string, };
