// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The process of the server.
 */
export type ServerDiagnosticsProcess = {
/**
 * Process id.
 */
id: number,
/**
 * Memory that the operating system charges to the process, in bytes.
 */
physicalFootprintBytes?: number | null,
/**
 * Resident memory of the process, in bytes.
 */
residentMemoryBytes?: number | null, };
