// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ApplyPatchApprovalParams } from "./ApplyPatchApprovalParams";
import type { AttestationGenerateParams } from "./AttestationGenerateParams";
import type { ChatgptAuthTokensRefreshParams } from "./ChatgptAuthTokensRefreshParams";
import type { CommandExecutionRequestApprovalParams } from "./CommandExecutionRequestApprovalParams";
import type { CurrentTimeReadParams } from "./CurrentTimeReadParams";
import type { DynamicToolCallParams } from "./DynamicToolCallParams";
import type { ExecCommandApprovalParams } from "./ExecCommandApprovalParams";
import type { FileChangeRequestApprovalParams } from "./FileChangeRequestApprovalParams";
import type { McpServerElicitationRequestParams } from "./McpServerElicitationRequestParams";
import type { PermissionsRequestApprovalParams } from "./PermissionsRequestApprovalParams";
import type { RequestId } from "./RequestId";
import type { ToolRequestUserInputParams } from "./ToolRequestUserInputParams";

export type ServerRequest =
  | { "id": RequestId, "method": "item/commandExecution/requestApproval", "params": CommandExecutionRequestApprovalParams }
  | { "id": RequestId, "method": "item/fileChange/requestApproval", "params": FileChangeRequestApprovalParams }
  | { "id": RequestId, "method": "item/tool/requestUserInput", "params": ToolRequestUserInputParams }
  | { "id": RequestId, "method": "mcpServer/elicitation/request", "params": McpServerElicitationRequestParams }
  | { "id": RequestId, "method": "item/permissions/requestApproval", "params": PermissionsRequestApprovalParams }
  | { "id": RequestId, "method": "item/tool/call", "params": DynamicToolCallParams }
  | { "id": RequestId, "method": "account/chatgptAuthTokens/refresh", "params": ChatgptAuthTokensRefreshParams }
  | { "id": RequestId, "method": "attestation/generate", "params": AttestationGenerateParams }
  | { "id": RequestId, "method": "currentTime/read", "params": CurrentTimeReadParams }
  | { "id": RequestId, "method": "applyPatchApproval", "params": ApplyPatchApprovalParams }
  | { "id": RequestId, "method": "execCommandApproval", "params": ExecCommandApprovalParams };
