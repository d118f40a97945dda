import { isRecord, readJson } from '../../../domain/text/json.ts'

const maxLines = 10
const maxLength = 300

/** Anything that may be a token: phones name addresses and headers in what they log. */
const tokenLike = /[\w-]{16,}/g

/** The faults that a phone reports, without possible secrets; empty for a body of another form. */
export function readPhoneLog(body: string): string[] {
  try {
    const { logs } = readJson(body, isRecord)
    if (!Array.isArray(logs)) return []
    const lines = logs.slice(0, maxLines).filter((line) => typeof line === 'string')
    return lines.map((line) =>
      line
        .slice(0, 4 * maxLength)
        .replaceAll(tokenLike, '…')
        .slice(0, maxLength),
    )
  } catch {
    return []
  }
}
