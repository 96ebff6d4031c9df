// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ApplyPatchApprovalResponse } from "./ApplyPatchApprovalResponse";
import type { AttestationGenerateResponse } from "./AttestationGenerateResponse";
import type { ChatgptAuthTokensRefreshResponse } from "./ChatgptAuthTokensRefreshResponse";
import type { CommandExecutionRequestApprovalResponse } from "./CommandExecutionRequestApprovalResponse";
import type { CurrentTimeReadResponse } from "./CurrentTimeReadResponse";
import type { DynamicToolCallResponse } from "./DynamicToolCallResponse";
import type { ExecCommandApprovalResponse } from "./ExecCommandApprovalResponse";
import type { FileChangeRequestApprovalResponse } from "./FileChangeRequestApprovalResponse";
import type { McpServerElicitationRequestResponse } from "./McpServerElicitationRequestResponse";
import type { PermissionsRequestApprovalResponse } from "./PermissionsRequestApprovalResponse";
import type { ToolRequestUserInputResponse } from "./ToolRequestUserInputResponse";

export type ServerResults = {
  "item/commandExecution/requestApproval": CommandExecutionRequestApprovalResponse,
  "item/fileChange/requestApproval": FileChangeRequestApprovalResponse,
  "item/tool/requestUserInput": ToolRequestUserInputResponse,
  "mcpServer/elicitation/request": McpServerElicitationRequestResponse,
  "item/permissions/requestApproval": PermissionsRequestApprovalResponse,
  "item/tool/call": DynamicToolCallResponse,
  "account/chatgptAuthTokens/refresh": ChatgptAuthTokensRefreshResponse,
  "attestation/generate": AttestationGenerateResponse,
  "currentTime/read": CurrentTimeReadResponse,
  "applyPatchApproval": ApplyPatchApprovalResponse,
  "execCommandApproval": ExecCommandApprovalResponse,
};
