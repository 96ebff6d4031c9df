// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The model that should be used instead.
 */
export type ModelUpgradeInfo = {
/**
 * The model.
 */
model: string,
/**
 * How to change over, in Markdown.
 */
migrationMarkdown?: string | null,
/**
 * Where to read about it.
 */
modelLink?: string | null,
/**
 * When the old model goes, in Unix seconds.
 */
retirementAt?: number | null,
/**
 * What users are told about it.
 */
upgradeCopy?: string | null, };
