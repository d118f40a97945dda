import { sha256, toBase64Url, toHex, utf8 } from '../text/encoding.ts'

/** Keys are kept, because making one takes longer than using it. */
const keys = new Map<string, Promise<CryptoKey>>()

function loadKey(secret: string): Promise<CryptoKey> {
  const known = keys.get(secret)
  if (known) return known
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const made = crypto.subtle.importKey('raw', utf8(`wallet-passes:${secret}`), algorithm, false, ['sign'])
  keys.set(secret, made)
  return made
}

async function computeMac(secret: string, purpose: string, serialNumber: string): Promise<string> {
  const bytes = await crypto.subtle.sign('HMAC', await loadKey(secret), utf8(`${purpose}:${serialNumber}`))
  return toBase64Url(new Uint8Array(bytes).slice(0, 24))
}

/** Random, with the mark of the deployment behind it, which may be empty. */
export const serialLength = 32
const serialForm = `[0-9a-f]{${serialLength}}(?:[a-z0-9]{2})?`
const serialPattern = new RegExp(`^${serialForm}$`)
const downloadPattern = new RegExp(`^(${serialForm})\\.[\\w-]{32}$`)

export const isSerialNumber = (text: string): boolean => serialPattern.test(text)

/** The token that a phone sends to the web service. Apple requires at least 16 characters. */
export const createPassToken = (secret: string, serialNumber: string): Promise<string> =>
  computeMac(secret, 'authentication', serialNumber)

export const hashPassToken = async (token: string): Promise<string> => toHex(await sha256(token))

/** In constant time for texts of one length: hashes and MACs. */
export function areTextsEqual(one: string, other: string): boolean {
  if (one.length !== other.length) return false
  let difference = 0
  for (let index = 0; index < one.length; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index)
  return difference === 0
}

/** The token of the link by which a person downloads a pass: the serial number and a MAC. */
export const createDownloadToken = async (secret: string, serialNumber: string): Promise<string> =>
  `${serialNumber}.${await computeMac(secret, 'download', serialNumber)}`

/** The serial number that a download link is for; null for one that was not signed with the key. */
export async function readDownloadToken(secret: string, token: string): Promise<string | null> {
  const [, serialNumber] = downloadPattern.exec(token) ?? []
  // With an empty key anyone could forge tokens.
  if (secret === '' || serialNumber === undefined) return null
  return areTextsEqual(await createDownloadToken(secret, serialNumber), token) ? serialNumber : null
}
