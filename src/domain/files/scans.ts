import type { TokenSigner } from '../accounts/signed-tokens.ts'
import { lifecycle } from '../lifecycle.ts'
import { dayMs } from '../time/instants.ts'
import { openFileToken, signFileToken } from './expiring-tokens.ts'

/** A scanner can report a clean file as infected later. That verdict is final. */
export const scanStates = lifecycle('pending', { pending: ['clean', 'infected'], clean: ['infected'], infected: [] })

export const verdicts = ['clean', 'infected'] as const
type ScanVerdict = (typeof verdicts)[number]

export interface ScanResult {
  verdict: ScanVerdict
  /** The finding of the scanner, for the operator of the service. */
  reason: string | null
}

/** The time until the scanner is asked again. It doubles each time. */
export const minRetryMs = 300_000
export const maxRetryMs = 21_600_000

const maxReasonLength = 500

/** Parses the response of a scanner. Null: it has no verdict. */
export function parseScanResult(body: unknown): ScanResult | null {
  if (typeof body !== 'object' || body === null) return null
  const { verdict, reason } = body as Record<string, unknown>
  const knownVerdict = verdicts.find((candidate) => candidate === verdict)
  if (!knownVerdict) return null
  return {
    verdict: knownVerdict,
    reason: typeof reason === 'string' ? reason.toWellFormed().slice(0, maxReasonLength) : null,
  }
}

const callbackLifetimeMs = 30 * dayMs
const signer: TokenSigner = { purpose: 'file-scan-answers', macBytes: 16 }

/** The token in the URL to which a scanner sends its verdict. */
export const signScanToken = (secret: string, fileId: string, now: number): string =>
  signFileToken(secret, signer, { fileId, code: 0, endsAt: now + callbackLifetimeMs })

/** The id of the file of a token. Null: the token is forged or expired. */
export const openScanToken = (secrets: readonly string[], token: string, now: number): string | null =>
  openFileToken(secrets, signer, token, now)?.fileId ?? null
