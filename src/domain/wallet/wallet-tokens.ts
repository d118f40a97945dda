import { sha256, toBase64Url, toHex, utf8 } from '../text/encoding.ts'

/** Keys are cached, because importing a key takes longer than using it. */
const keys = new Map<string, Promise<CryptoKey>>()

function loadKey(secret: string): Promise<CryptoKey> {
  const cachedKey = keys.get(secret)
  if (cachedKey) return cachedKey
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = crypto.subtle.importKey('raw', utf8(`wallet-passes:${secret}`), algorithm, false, ['sign'])
  keys.set(secret, key)
  return key
}

async function computeMac(secret: string, purpose: string, serialNumber: string): Promise<string> {
  const bytes = await crypto.subtle.sign('HMAC', await loadKey(secret), utf8(`${purpose}:${serialNumber}`))
  return toBase64Url(new Uint8Array(bytes).slice(0, 24))
}

/** A serial number is random and may end with the mark of a cell. */
export const serialLength = 32
const serialSource = `[0-9a-f]{${serialLength}}(?:[a-z0-9]{2})?`
const serialPattern = new RegExp(`^${serialSource}$`)
const downloadPattern = new RegExp(`^(${serialSource})\\.[\\w-]{32}$`)

export const isSerialNumber = (text: string): boolean => serialPattern.test(text)

/** Creates the token that a phone sends to the web service. Apple requires at least 16 characters. */
export const createPassToken = (secret: string, serialNumber: string): Promise<string> =>
  computeMac(secret, 'authentication', serialNumber)

export const hashPassToken = async (token: string): Promise<string> => toHex(await sha256(token))

/** Compares texts of equal length, such as hashes and MACs, in constant time. */
export function areTextsEqual(one: string, other: string): boolean {
  if (one.length !== other.length) return false
  let difference = 0
  for (let index = 0; index < one.length; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index)
  return difference === 0
}

/** Creates the token of a download link: the serial number and a MAC. */
export const createDownloadToken = async (secret: string, serialNumber: string): Promise<string> =>
  `${serialNumber}.${await computeMac(secret, 'download', serialNumber)}`

/** Returns the serial number of a download link, or null when the link was signed with none of the keys. */
export async function readDownloadToken(secrets: readonly string[], token: string): Promise<string | null> {
  const [, serialNumber] = downloadPattern.exec(token) ?? []
  if (serialNumber === undefined) return null
  const tokens = await Promise.all(secrets.map((secret) => createDownloadToken(secret, serialNumber)))
  return tokens.some((validToken) => areTextsEqual(validToken, token)) ? serialNumber : null
}

/** True for the hash of a token that one of the keys makes for a pass. */
export async function isPassTokenHash(
  secrets: readonly string[],
  serialNumber: string,
  hash: string,
): Promise<boolean> {
  const hashes = await Promise.all(
    secrets.map(async (secret) => hashPassToken(await createPassToken(secret, serialNumber))),
  )
  return hashes.some((validHash) => areTextsEqual(validHash, hash))
}
