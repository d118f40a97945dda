import { Webhook } from 'standardwebhooks'

export interface SignedRequest {
  id: string
  /** Unix seconds, as the header has them. */
  timestamp: string
  /** One or more signatures, separated by spaces. */
  signature: string
  body: string
}

const windowMinutes = 5
const secretBytes = 32

const isSignedBy = (secret: string, { id, timestamp, signature }: SignedRequest, body: string): boolean =>
  signature.split(' ').includes(new Webhook(secret).sign(id, new Date(Number(timestamp) * 1000), body))

/** Changes that programs make to a body before they verify it. */
const changes: readonly (readonly [string, (body: string) => string])[] = [
  ['A line break was added at its end.', (body) => body.replace(/\r?\n$/, '')],
  ['It lost the line break at its end.', (body) => `${body}\n`],
  ['Its line breaks were changed.', (body) => body.replaceAll('\r\n', '\n')],
  ['A byte order mark was added.', (body) => body.replace(/^\uFEFF/, '')],
  ['It was parsed and written again as JSON. Verify the bytes as they came.', (body) => rewriteJson(body)],
]

function rewriteJson(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body))
  } catch {
    return body
  }
}

function explainSecret(secret: string): string | null {
  if (!secret.startsWith('whsec_')) return 'The secret has to begin with whsec_.'
  const { length } = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return length === secretBytes
    ? null
    : `The secret is not whole: behind whsec_ stands the base64 of ${secretBytes} bytes, and this one has ${length}.`
}

function explainTime(timestamp: string): string | null {
  if (/^\d{13}$/.test(timestamp)) return 'The webhook-timestamp is in milliseconds. It has to be in seconds.'
  if (!/^\d{1,12}$/.test(timestamp)) return 'The webhook-timestamp is not a number of seconds.'
  return null
}

function explainAge(timestamp: string): string | null {
  const minutes = Math.round((Date.now() / 1000 - Number(timestamp)) / 60)
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) <= windowMinutes * 60) return null
  const side = minutes > 0 ? `${minutes} minutes ago` : `${-minutes} minutes in the future`
  return `It was signed ${side}, and receivers accept ${windowMinutes} minutes. If it just came, your clock is wrong; if you stored it, add --any-time.`
}

/** Finds the change of the body that explains why its signature is wrong. */
function explainMismatch(secret: string, request: SignedRequest, sentBody: string | undefined): string {
  const { body, signature } = request
  if (!signature.split(' ').some((part) => part.startsWith('v1,')))
    return 'The webhook-signature has no signature of the version v1.'
  if (sentBody !== undefined && isSignedBy(secret, request, sentBody))
    return 'The body was changed: it is not the one that was sent.'
  const change = changes.find(([, undo]) => undo(body) !== body && isSignedBy(secret, request, undo(body)))
  if (change) return `The body was changed. ${change[0]}`
  return sentBody === body
    ? 'The secret is not the one that signed the delivery.'
    : 'The secret is another one, or the body, webhook-id or webhook-timestamp was changed.'
}

/** Says everything that is wrong with a signature. Empty if nothing is. */
export function explainSignature(
  secret: string,
  request: SignedRequest,
  { isAnyTime, sentBody }: { isAnyTime: boolean; sentBody?: string | undefined },
): string[] {
  const fault = explainSecret(secret) ?? explainTime(request.timestamp)
  if (fault !== null) return [fault]
  const reasons = isSignedBy(secret, request, request.body) ? [] : [explainMismatch(secret, request, sentBody)]
  const age = isAnyTime ? null : explainAge(request.timestamp)
  return age === null ? reasons : [...reasons, age]
}
