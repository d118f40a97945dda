import { sha256, toHex, utf8 } from '../text/encoding.ts'
import { openText, sealText } from './sealed-text.ts'

/** Where a secret is stored. A sealed text that is copied to another row or column does not open there. */
export interface SecretPlace {
  id: string
  column: string
}

async function deriveKey(workerSecret: string, { id, column }: SecretPlace): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', utf8(workerSecret), 'HKDF', false, ['deriveKey'])
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: utf8(`${id}\0${column}`), info: utf8('stored secret') }
  return crypto.subtle.deriveKey(derivation, material, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}

const fingerprintLength = 16

/** Identifies a secret of the Worker without revealing it. */
export const fingerprintSecret = async (workerSecret: string): Promise<string> =>
  toHex(await sha256(`stored secret\0${workerSecret}`)).slice(0, fingerprintLength)

export const sealSecret = async (
  workerSecret: string,
  place: SecretPlace,
  randomBytes: (length: number) => Uint8Array,
  text: string,
): Promise<string> => sealText(await deriveKey(workerSecret, place), randomBytes, text)

/** Decrypts with the first secret that fits. Null: no secret fits. */
export async function openSecret(
  workerSecrets: readonly string[],
  place: SecretPlace,
  sealedText: string,
): Promise<string | null> {
  for (const secret of workerSecrets) {
    const text = await openText(await deriveKey(secret, place), sealedText)
    if (text !== null) return text
  }
  return null
}
