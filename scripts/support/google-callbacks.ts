import { callbackProtocol, buildSignedBytes } from '../../src/domain/wallet/google-callback.ts'

/** Keys that replace Google's. The root key signs the intermediate key, which signs callbacks. */
export interface GoogleKeys {
  root: CryptoKeyPair
  intermediate: CryptoKeyPair
}

/** Node does not have `Uint8Array.toBase64` yet. */
const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

const generateKeyPair = () =>
  crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']) as Promise<CryptoKeyPair>

export const createGoogleKeys = async (): Promise<GoogleKeys> => ({
  root: await generateKeyPair(),
  intermediate: await generateKeyPair(),
})

export const exportSpki = async ({ publicKey }: CryptoKeyPair): Promise<string> =>
  toBase64(new Uint8Array((await crypto.subtle.exportKey('spki', publicKey)) as ArrayBuffer))

function encodeDerInteger(bytes: Uint8Array): number[] {
  let value = [...bytes]
  while (value.length > 1 && value[0] === 0) value = value.slice(1)
  if ((value[0] ?? 0) >= 0x80) value = [0, ...value]
  return [0x02, value.length, ...value]
}

/** Signs texts as Google does. The signature is DER in base64. */
async function signTexts({ privateKey }: CryptoKeyPair, ...texts: string[]): Promise<string> {
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
  const raw = new Uint8Array(await crypto.subtle.sign(algorithm, privateKey, buildSignedBytes(...texts)))
  const body = [...encodeDerInteger(raw.slice(0, 32)), ...encodeDerInteger(raw.slice(32))]
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

/** Signs a callback and returns its body. */
export async function signCallback(
  keys: GoogleKeys,
  message: CallbackMessage,
  { sender = 'GooglePayPasses', issuer = 'capture', keyExpires = Date.now() + 86_400_000 } = {},
): Promise<Record<string, unknown>> {
  const signedKey = JSON.stringify({ keyValue: await exportSpki(keys.intermediate), keyExpiration: String(keyExpires) })
  const signedMessage = JSON.stringify(message)
  return {
    signature: await signTexts(keys.intermediate, sender, issuer, callbackProtocol, signedMessage),
    intermediateSigningKey: {
      signedKey,
      signatures: [await signTexts(keys.root, sender, callbackProtocol, signedKey)],
    },
    protocolVersion: callbackProtocol,
    signedMessage,
  }
}
