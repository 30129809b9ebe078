/**
 * Chinese texts of what the service answers to an input that it refuses. The key is the service's English
 * text, with {} for each value. Chinese consoles load this file with their first such answer.
 */
const CHINESE: Readonly<Record<string, string>> = {
  '"{}" cannot be set: the gateway decides about it.': '不能设置“{}”：由网关决定。',
  '"{}" is neither an IP address nor a CIDR block. Correct or remove it.':
    '“{}”既不是 IP 地址也不是 CIDR 地址段。请更正或移除。',
  '"{}" is not a name. Use letters, digits, - and _.': '“{}”不是有效的名称。请使用字母、数字、- 和 _。',
  'A picture is not valid base64. Attach it again.': '一张图片不是有效的 base64。请重新添加。',
  'A renewal keeps its models. Leave modelIds empty.': '续期保留原有模型。请将 modelIds 留空。',
  'A series has at most {} points. Choose a wider bucket.': '一个序列最多 {} 个点。请选择更大的时间段。',
  'Add 1 to {} days.': '请增加 1 到 {} 天。',
  'Add one upstream for messages and another one for bedrock-converse.':
    '请为 messages 和 bedrock-converse 分别添加上游。',
  'Another version takes effect later. Choose a later time.': '已有版本在更晚的时间生效。请选择更晚的时间。',
  'At most ${} of this top-up is left to refund.': '这笔充值最多还可退还 ${}。',
  'Attach only PNG, JPEG, WebP or GIF pictures.': '只能添加 PNG、JPEG、WebP 或 GIF 图片。',
  'Choose 1 to {} different models.': '请选择 1 到 {} 个不同的模型。',
  'Choose 1 to {} models, or leave the list out to allow every model.':
    '请选择 1 到 {} 个模型，或不提供列表以允许所有模型。',
  'Choose 1 to {} models.': '请选择 1 到 {} 个模型。',
  'Choose a grace period of 0 to {} seconds (30 days).': '请选择 0 到 {} 秒（30 天）的宽限期。',
  'Choose a lifetime of 1 to {} days.': '请选择 1 到 {} 天的有效期。',
  'Choose a range above zero and up to 400 days.': '请选择大于零且不超过 400 天的范围。',
  'Choose at least one family.': '请至少选择一类端点。',
  'Choose at least one group.': '请至少选择一个分组。',
  'Choose at least one protocol.': '请至少选择一种协议。',
  'Choose at most {} dimensions, each once.': '最多选择 {} 个维度，每个一次。',
  'Choose one of these states: {}.': '请选择以下状态之一：{}。',
  'Choose the style BEDROCK for bedrock-converse.': 'bedrock-converse 请选择样式 BEDROCK。',
  'Choose {} to {} characters of a–z, 0–9, and hyphens inside.':
    '请使用 {} 到 {} 个字符：a–z、0–9，中间可用连字符。',
  'Either cancel the pool or change it, not both.': '取消专属池或更改专属池，不能同时进行。',
  'Enter 1 to {} minutes, or nothing.': '请输入 1 到 {} 分钟，或留空。',
  'Enter JSON with accessKeyId and secretAccessKey, and sessionToken if any.':
    '请输入含 accessKeyId 和 secretAccessKey（以及可能的 sessionToken）的 JSON。',
  'Enter a block from 0 on.': '请输入不小于 0 的区块号。',
  'Enter a budget above zero.': '请输入大于零的预算。',
  'Enter a budget of $0 to $100,000 per month.': '请输入每月 $0 到 $100,000 的预算。',
  'Enter a concurrency limit of at least 1, or leave it empty.': '请输入不小于 1 的并发上限，或留空。',
  'Enter a context size of 1 to {} tokens.': '请输入 1 到 {} 词元的上下文长度。',
  'Enter a cost of 0 to 1000 USD, or leave it empty.': '请输入 0 到 1000 美元的成本，或留空。',
  'Enter a description of at most {} characters.': '请输入最多 {} 个字符的描述。',
  'Enter a display name of 1 to 100 characters.': '请输入 1 到 100 个字符的显示名称。',
  'Enter a maximum of at least 1 token.': '请输入不小于 1 个词元的上限。',
  'Enter a name of 1 to 63 characters: a–z, 0–9, dot, hyphen and underscore.':
    '请输入 1 到 63 个字符的名称：a–z、0–9、点、连字符和下划线。',
  'Enter a name of 1 to {} characters.': '请输入 1 到 {} 个字符的名称。',
  'Enter a name of at most {} characters.': '请输入最多 {} 个字符的名称。',
  'Enter a note of at most {} characters.': '请输入最多 {} 个字符的备注。',
  'Enter a number of confirmations from 1 to {}.': '请输入 1 到 {} 的确认数。',
  'Enter a positive amount in whole cents, such as 25 or 9.99.':
    '请输入精确到分的正数金额，例如 25 或 9.99。',
  'Enter a price above zero.': '请输入大于零的价格。',
  'Enter a priority from 0 to {}.': '请输入 0 到 {} 的优先级。',
  'Enter a ratio of at most 10.': '请输入不超过 10 的倍率。',
  'Enter a ratio with at most four fraction digits.': '请输入最多四位小数的倍率。',
  'Enter a retention of 1 to {} days.': '请输入 1 到 {} 天的保留期。',
  'Enter a secret of 1 to {} printable ASCII characters.': '请输入 1 到 {} 个可打印 ASCII 字符的密钥。',
  'Enter a secret of {} printable ASCII characters.': '请输入 {} 个可打印 ASCII 字符的密钥。',
  'Enter a smallest deposit above zero.': '请输入大于零的最小充值额。',
  'Enter a spend limit above zero.': '请输入大于零的消费上限。',
  'Enter a start in the past. Future work is a maintenance.': '请输入过去的开始时间。未来的工作属于维护。',
  'Enter a symbol of 2 to 12 letters and digits, such as USDC.':
    '请输入 2 到 12 个字母和数字的符号，例如 USDC。',
  'Enter a tax code of the processor, such as txcd_10103001, or none.':
    '请输入支付处理商的税码，例如 txcd_10103001，或留空。',
  'Enter a temperature from 0 to {}.': '请输入 0 到 {} 的温度。',
  'Enter a text of 1 to {} characters.': '请输入 1 到 {} 个字符的正文。',
  'Enter a title of 1 to {} characters.': '请输入 1 到 {} 个字符的标题。',
  'Enter a top_p above 0 and at most 1.': '请输入大于 0 且不超过 1 的 top_p。',
  'Enter a version number such as 2.0.': '请输入版本号，例如 2.0。',
  'Enter a weight from 1 to {}.': '请输入 1 到 {} 的权重。',
  'Enter addresses of two different services, so that no single one can invent a deposit.':
    '请输入两个不同服务的地址，使任何一个都无法虚构充值。',
  'Enter an address that begins with https://.': '请输入以 https:// 开头的地址。',
  'Enter an amount of {}.': '请输入 {} 的金额。',
  '${} to ${}': '${} 到 ${}',
  'Enter an end that is after the start.': '请输入晚于开始的结束时间。',
  'Enter at most {}.': '最多输入 {} 项。',
  'Enter each name once.': '每个名称只能输入一次。',
  'Enter exactly two addresses.': '请输入两个地址。',
  'Enter stop sequences of 1 to {} characters.': '请输入 1 到 {} 个字符的停止序列。',
  'Enter the address to sign in with.': '请输入用于登录的邮箱地址。',
  'Enter the origin alone, without a path.': '请只输入源地址，不含路径。',
  'Enter the proxy as http://host:port, without a user or a path.':
    '请按 http://host:port 输入代理，不含用户和路径。',
  'Enter two addresses that begin with https://.': '请输入两个以 https:// 开头的地址。',
  'Enter {}: {} needs it.': '请输入 {}：{} 需要它。',
  'Give "{}" a value of 1 to {} ASCII characters.': '请为“{}”输入 1 到 {} 个 ASCII 字符的值。',
  'Give a name of at most {} characters.': '请输入最多 {} 个字符的名称。',
  'Give a reason of at most {} characters.': '请输入最多 {} 个字符的原因。',
  'Give the key a name of at most {} characters.': '请为密钥输入最多 {} 个字符的名称。',
  'Give the pool a name of at most {} characters.': '请为专属池输入最多 {} 个字符的名称。',
  'Leave the path empty: the style {} has its own.': '请将路径留空：样式 {} 有自己的路径。',
  'Leave {} empty: {} does not use it.': '请将 {} 留空：{} 不使用它。',
  'Offer 1 to {} models, or send null for all.': '请提供 1 到 {} 个模型，或留空表示全部。',
  'Only a maintenance has a planned end.': '只有维护才有计划的结束时间。',
  'Only administrators can choose ADMIN scopes. Remove them.': '只有管理员可以选择 ADMIN 权限。请移除。',
  'Only administrators can choose events of upstreams. Remove them.':
    '只有管理员可以选择上游的事件。请移除。',
  'Paste the certificate and its private key in PEM, an RSA key without a password.':
    '请粘贴 PEM 格式的证书及其私钥（无密码的 RSA 密钥）。',
  'Paste the certificate in PEM, with its chain if any.': '请粘贴 PEM 格式的证书及其证书链（如有）。',
  'Paste the private key of the certificate in PEM, without a password.':
    '请粘贴证书的 PEM 格式私钥，不带密码。',
  'Paste the whole JSON key file of the service account.': '请粘贴服务账户完整的 JSON 密钥文件。',
  'RPC service {}: {}': 'RPC 服务 {}：{}',
  'Remove query, fragment and user from the base address.': '请从基础地址中移除查询参数、片段和用户。',
  'Remove the NUL characters from the message.': '请移除消息中的 NUL 字符。',
  'Remove the NUL characters from the system prompt.': '请移除系统提示中的 NUL 字符。',
  'Remove the NUL characters.': '请移除 NUL 字符。',
  'Remove the part after # from the address.': '请移除地址中 # 之后的部分。',
  'Row {}: {}': '第 {} 行：{}',
  'Choose the role user or developer.': '请选择角色 user 或 developer。',
  'Enter a smallest or a largest number, the smallest first.': '请输入最小值或最大值，最小值在前。',
  'Enter the value to replace as JSON, for example "none".': '请以 JSON 输入要替换的值，例如 "none"。',
  'Enter the value as JSON, for example "low", 0.6 or {"type":"x"}.':
    '请以 JSON 输入值，例如 "low"、0.6 或 {"type":"x"}。',
  'Enter a member of letters, digits, _ and -, with dots between at most {} levels.':
    '请输入由字母、数字、_ 和 - 组成的成员，最多 {} 层，层间用点分隔。',
  'The gateway itself writes {}. Choose another member.': '网关自己写入 {}。请选择其他成员。',
  'Enter two different members of the top level, without dots.': '请输入两个不同的顶层成员，不含点。',
  'Enter only the characters _ . : / - that tool names may have.': '请只输入工具名称可含的字符 _ . : / -。',
  'Enter a largest length from {} to {}.': '请输入 {} 到 {} 的最大长度。',
  'Save at most {} quirks.': '最多保存 {} 条差异。',
  'Send a path of the console, such as /pools/new.': '请提供控制台的路径，例如 /pools/new。',
  'Set a cap of 1 to {} requests a minute.': '请设置每分钟 1 到 {} 个请求的上限。',
  'Set {} to a value from 1 to {} ms.': '请将 {} 设为 1 到 {} 毫秒。',
  'Set {} to a value from 1 to {}.': '请将 {} 设为 1 到 {}。',
  'Shorten the message to {} characters.': '请将消息缩短到 {} 个字符。',
  'Shorten the text to {} characters.': '请将文本缩短到 {} 个字符。',
  'Suggest at most {} amounts, each within the limits of a top-up.':
    '最多建议 {} 个金额，每个都在充值限额之内。',
  'The amount must be zero or more.': '金额不能小于零。',
  'The amount must not be zero.': '金额不能为零。',
  'The expiry is in the past. Choose a later time.': '过期时间已过。请选择更晚的时间。',
  'The name of a published model cannot change, because clients use it. Create a new model.':
    '已发布模型的名称不能更改，因为客户端在使用它。请创建新模型。',
  "The provider's protocols cannot serve {}. Remove these families.":
    '上游的协议无法提供 {}。请移除这些端点。',
  'The provider gave no list of models: {}. Probe it, or add routes by hand.':
    '上游没有给出模型列表：{}。请探测上游，或手动添加路由。',
  'The smallest amount must not exceed the largest one, nor that the sum of a day.':
    '最小金额不能超过最大金额，最大金额不能超过每日总额。',
  'The sum of a month must be at least one top-up.': '每月总额至少为一次充值的金额。',
  'The threshold must be zero or more.': '阈值不能小于零。',
  'The time of retirement is in the past. Choose a later time, or retire the model now.':
    '下线时间已过。请选择更晚的时间，或立即下线模型。',
  'The value of {} has the wrong form. Copy it from the console of the cloud.':
    '{} 的值格式有误。请从云服务的控制台复制。',
  'This contract is no token with {} decimals.': '此合约不是 {} 位小数的代币。',
  'This host name does not resolve. Check it.': '此主机名无法解析。请检查。',
  'This is a private key. Never enter it anywhere: enter the extended public key (xpub…).':
    '这是私钥，切勿在任何地方输入。请输入扩展公钥（xpub…）。',
  'This is no address of a contract. Check its letters.': '这不是合约地址。请检查字母。',
  'This kind of upstream cannot be probed regularly.': '此类上游无法定期探测。',
  'This link is for an account with another address. Leave the address out.':
    '此链接属于另一邮箱地址的账户。请不要填写地址。',
  'Type {} to confirm.': '请输入 {} 以确认。',
  'Unknown time zone. Choose an IANA time zone such as Europe/Vienna.':
    '未知的时区。请选择 IANA 时区，例如 Europe/Vienna。',
  'Unsupported language. Choose one of {}.': '不支持的语言。请选择 {} 之一。',
  'Use a name of 1 to 64 letters, digits, spaces or . : - _ that starts with a letter, a digit or _.':
    '请使用 1 到 64 个字母、数字、空格或 . : - _ 的名称，以字母、数字或 _ 开头。',
  'With the style {}, choose only {}.': '样式 {} 只能选择 {}。',
  'With {}, use an address of Vertex AI under googleapis.com.':
    '使用 {} 时，请使用 googleapis.com 下的 Vertex AI 地址。',
  'Write the path like /deployments/{model}{path}: with {path}, without a query.':
    '请按 /deployments/{model}{path} 的形式书写路径：含 {path}，不含查询参数。',
  'Your provider has not verified your e-mail address. Verify it there, then sign in again.':
    '你的身份提供方尚未验证你的邮箱地址。请在其处验证后重新登录。',
  'An upstream in the list does not exist.': '列表中有不存在的上游。',
  '{} does not resolve to public addresses only. Use a public host.':
    '{} 没有全部解析到公网地址。请使用公网主机。',
  '{} must be 1 to {}.': '{} 必须为 1 到 {}。',
  '{} needs no credential: nodes have an identity of their own.': '{} 不需要凭据：节点有自己的身份。',
};

const HOLE = '{}';

/**
 * The text in Chinese, with its values; undefined for a text without a translation. A value that is such a
 * text itself is translated, too.
 */
export function inChinese(text: string): string | undefined {
  for (const [english, chinese] of Object.entries(CHINESE)) {
    const values = valuesIn(text, english);
    if (values) {
      const shown = values.map((value) => inChinese(value) ?? value);
      return chinese.split(HOLE).reduce((filled, part, at) => filled + (shown[at - 1] ?? '') + part);
    }
  }
  return undefined;
}

/** The English texts that have a translation. */
export const TRANSLATED: readonly string[] = Object.keys(CHINESE);

/** The values of a text that has this form; undefined if it has another. */
function valuesIn(text: string, form: string): string[] | undefined {
  const parts = form.split(HOLE).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('(.+?)')}$`, 's').exec(text)?.slice(1);
}
