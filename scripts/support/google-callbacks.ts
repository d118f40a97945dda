import { callbackProtocol, buildSignedBytes } from '../../src/domain/wallet/google-callback.ts'

/** Keys that replace Google's: the root signs the intermediate one, and that one signs callbacks. */
export interface GoogleKeys {
  root: CryptoKeyPair
  intermediate: CryptoKeyPair
}

/** Node has no `toBase64` of arrays yet. */
const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

const keyPair = () =>
  crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']) as Promise<CryptoKeyPair>

export const makeGoogleKeys = async (): Promise<GoogleKeys> => ({
  root: await keyPair(),
  intermediate: await keyPair(),
})

export const spkiOf = async ({ publicKey }: CryptoKeyPair): Promise<string> =>
  toBase64(new Uint8Array((await crypto.subtle.exportKey('spki', publicKey)) as ArrayBuffer))

function derInteger(bytes: Uint8Array): number[] {
  let value = [...bytes]
  while (value.length > 1 && value[0] === 0) value = value.slice(1)
  if ((value[0] ?? 0) >= 0x80) value = [0, ...value]
  return [0x02, value.length, ...value]
}

/** A signature as Google writes it: DER in base64. */
async function signature({ privateKey }: CryptoKeyPair, ...texts: string[]): Promise<string> {
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
  const raw = new Uint8Array(await crypto.subtle.sign(algorithm, privateKey, buildSignedBytes(...texts)))
  const body = [...derInteger(raw.slice(0, 32)), ...derInteger(raw.slice(32))]
  return toBase64(Uint8Array.from([0x30, body.length, ...body]))
}

export interface CallbackMessage {
  classId: string
  objectId: string
  eventType: string
  expTimeMillis: number | string
  count: number
  nonce: string
}

/** The body of a callback, signed. */
export async function signedCallback(
  keys: GoogleKeys,
  message: CallbackMessage,
  { sender = 'GooglePayPasses', issuer = 'capture', keyExpires = Date.now() + 86_400_000 } = {},
): Promise<Record<string, unknown>> {
  const signedKey = JSON.stringify({ keyValue: await spkiOf(keys.intermediate), keyExpiration: String(keyExpires) })
  const signedMessage = JSON.stringify(message)
  return {
    signature: await signature(keys.intermediate, sender, issuer, callbackProtocol, signedMessage),
    intermediateSigningKey: {
      signedKey,
      signatures: [await signature(keys.root, sender, callbackProtocol, signedKey)],
    },
    protocolVersion: callbackProtocol,
    signedMessage,
  }
}
