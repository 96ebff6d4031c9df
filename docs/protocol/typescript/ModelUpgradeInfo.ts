// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The model that should be used instead of another one.
 */
export type ModelUpgradeInfo = {
/**
 * Name of the model.
 */
model: string,
/**
 * How to migrate, in Markdown.
 */
migrationMarkdown?: string | null,
/**
 * URL of more information.
 */
modelLink?: string | null,
/**
 * Time when the old model is retired, in Unix seconds.
 */
retirementAt?: number | null,
/**
 * Text for users about the upgrade.
 */
upgradeCopy?: string | null, };
