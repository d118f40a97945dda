import { dayMs } from '../time/instants.ts'
import { lifecycle } from '../lifecycle.ts'
import type { TokenSigner } from '../accounts/signed-tokens.ts'
import { openFileToken, signFileToken } from './expiring-tokens.ts'

/** A scanner may report later that a file is infected. That verdict is final. */
export const scanStates = lifecycle('pending', { pending: ['clean', 'infected'], clean: ['infected'], infected: [] })

export const verdicts = ['clean', 'infected'] as const
type ScanVerdict = (typeof verdicts)[number]

export interface ScanAnswer {
  verdict: ScanVerdict
  /** What the scanner found, for the people who run the service. */
  reason: string | null
}

/** The time until a scanner is asked again. It doubles each time. */
export const firstRepeatMs = 300_000
export const longestRepeatMs = 21_600_000

const maxReasonLength = 500

/** The verdict in a scanner's answer; null without one. */
export function parseScanAnswer(body: unknown): ScanAnswer | null {
  if (typeof body !== 'object' || body === null) return null
  const { verdict, reason } = body as Record<string, unknown>
  const known = verdicts.find((one) => one === verdict)
  if (!known) return null
  return { verdict: known, reason: typeof reason === 'string' ? reason.toWellFormed().slice(0, maxReasonLength) : null }
}

const answerMs = 30 * dayMs
const signer: TokenSigner = { purpose: 'file-scan-answers', macBytes: 16 }

/** The token in the address for a scanner's answer, which only the service can make. */
export const signScanToken = (secret: string, fileId: string, now: number): string =>
  signFileToken(secret, signer, { fileId, mark: 0, endsAt: now + answerMs })

/** The file of a token; null for a forged or expired one. */
export const openScanToken = (secret: string, token: string, now: number): string | null =>
  openFileToken(secret, signer, token, now)?.fileId ?? null
