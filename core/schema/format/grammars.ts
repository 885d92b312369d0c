// The formats that a grammar describes whole, as expressions of the linear matcher: each names the productions of its RFC.

const hexDigit = "[0-9A-Fa-f]";
const percentEncoded = `%${hexDigit}{2}`;

// RFC 3986, appendix A
const unreserved = "A-Za-z0-9\\-._~";
const subDelimiters = "!$&'()*+,;=";
const plainCharacter = `[${unreserved}${subDelimiters}:@]`;
const pathCharacter = `(?:${plainCharacter}|${percentEncoded})`;
const queryOrFragment = `(?:[${unreserved}${subDelimiters}:@/?]|${percentEncoded})*`;
const segments = `(?:/${pathCharacter}*)*`;
const decimalOctet = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const ipv4Address = `${decimalOctet}(?:\\.${decimalOctet}){3}`;
const ipv6Address = ipv6Grammar();
const registeredName = `(?:[${unreserved}${subDelimiters}]|${percentEncoded})*`;
const ipLiteral = `\\[(?:${ipv6Address}|[Vv]${hexDigit}+\\.[${unreserved}${subDelimiters}:]+)\\]`;
const userInfo = `(?:[${unreserved}${subDelimiters}:]|${percentEncoded})*@`;
const authority = `(?:${userInfo})?(?:${ipLiteral}|${registeredName})(?::\\d*)?`;
const scheme = "[A-Za-z][A-Za-z0-9+.\\-]*:";
const absolutePath = `/(?:${pathCharacter}+${segments})?`;
const rootlessPath = `${pathCharacter}+${segments}`;
/** Its first segment has no colon, which would end a scheme. */
const relativePath = `(?:[${unreserved}${subDelimiters}@]|${percentEncoded})+${segments}`;
const queryAndFragment = `(?:\\?${queryOrFragment})?(?:#${queryOrFragment})?`;

function ipv6Grammar(): string {
  const group = `${hexDigit}{1,4}`;
  const lastTwo = `(?:${group}:${group}|${ipv4Address})`;
  const upTo = (count: number): string => `(?:(?:${group}:){0,${count}}${group})?::`;
  const shortened = [4, 3, 2, 1, 0].map((after, before) => `${upTo(before)}(?:${group}:){${after}}${lastTwo}`);
  return `(?:${[
    `(?:${group}:){6}${lastTwo}`,
    `::(?:${group}:){5}${lastTwo}`,
    ...shortened,
    `${upTo(5)}${group}`,
    upTo(6),
  ].join("|")})`;
}

// RFC 6570, with the apostrophe that erratum 6937 allows in literals
const variableName = `(?:[A-Za-z0-9_]|${percentEncoded})(?:\\.?(?:[A-Za-z0-9_]|${percentEncoded}))*`;
const variable = `${variableName}(?::[1-9]\\d{0,3}|\\*)?`;
const templateExpression = `\\{[+#./;?&=,!@|]?${variable}(?:,${variable})*\\}`;
const templateLiteral = `[!#$&'()-;=?-\\[\\]_a-z~\\u{A0}-\\u{D7FF}\\u{E000}-\\u{10FFFF}]|${percentEncoded}`;

// RFC 5321 §4.1.2 and §4.1.3, with at least two labels in a domain
const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\-]+";
const quotedString = '"(?:[ !#-\\[\\]-~]|\\\\[ -~])*"';
const label = "[A-Za-z0-9](?:[A-Za-z0-9\\-]*[A-Za-z0-9])?";
/** The whole grammar of IPv6 would make the commonest format the largest. */
const addressLiteral = `\\[(?:${ipv4Address}|[Ii][Pp][Vv]6:[0-9A-Fa-f:.]+)\\]`;

// RFC 3339, appendix A: a unit is followed by none but the next smaller one
const time = "T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)";
const days = "(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)";

// RFC 6901
const referenceTokens = "(?:/(?:[^~/]|~[01])*)*";
const fragmentTokens = `(?:/(?:[A-Za-z0-9\\-._${subDelimiters}:@?]|${percentEncoded}|~[01])*)*`;

export const grammars = {
  duration: `P(?:${days}(?:${time})?|${time}|\\d+W)`,
  email: `(?:${atom}(?:\\.${atom})*|${quotedString})@(?:(?:${label}\\.)+${label}|${addressLiteral})`,
  ipv4: ipv4Address,
  ipv6: ipv6Address,
  "json-pointer": referenceTokens,
  "json-pointer-uri-fragment": `#${fragmentTokens}`,
  "relative-json-pointer": `(?:0|[1-9]\\d*)(?:#|${referenceTokens})`,
  uri: `${scheme}(?://${authority}${segments}|${absolutePath}|(?:${rootlessPath})?)${queryAndFragment}`,
  "uri-reference": `(?:(?:${scheme})?(?://${authority}${segments}|${absolutePath})|${scheme}(?:${rootlessPath})?|(?:${relativePath})?)${queryAndFragment}`,
  "uri-template": `(?:${templateLiteral}|${templateExpression})*`,
  // RFC 9562 §4
  uuid: `${hexDigit}{8}-(?:${hexDigit}{4}-){3}${hexDigit}{12}`,
} as const;
