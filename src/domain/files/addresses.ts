import type { TokenSigner } from '../accounts/signed-tokens.ts'
import { openFileToken, signFileToken } from './expiring-tokens.ts'

const variants = ['thumbnail', 'optimized', 'large', 'original'] as const
export type Variant = (typeof variants)[number]
export type DerivedVariant = Exclude<Variant, 'original'>

export const isVariant = (name: string): name is Variant => variants.some((variant) => variant === name)

/** Import files contain personal data, so they have no permanent URL. */
export const isPrivate = ({ purpose }: { purpose: string }): boolean => purpose === 'import'

const signedAddressMs = 900_000

/** Who a signed URL is for: only a scanner can read files in quarantine. */
const readers = ['person', 'scanner'] as const
export type AddressReader = (typeof readers)[number]

const signer: TokenSigner = { purpose: 'file-addresses', macBytes: 16 }

export const buildFileAddress = (
  filesUrl: string,
  file: { id: string; access_key: string },
  variant: Variant,
): string => `${filesUrl}/files/${file.id}/${file.access_key}/${variant}`

/** The URLs of an image. They contain its access key, so whoever has one can see the image. */
export const buildImageAddresses = (filesUrl: string, file: { id: string; access_key: string }) => ({
  thumbnail: buildFileAddress(filesUrl, file, 'thumbnail'),
  optimized: buildFileAddress(filesUrl, file, 'optimized'),
  large: buildFileAddress(filesUrl, file, 'large'),
  original: buildFileAddress(filesUrl, file, 'original'),
})

export const buildImageOrNull = (filesUrl: string, id: string | null, accessKey: string | null) =>
  id === null || accessKey === null ? null : buildImageAddresses(filesUrl, { id, access_key: accessKey })

/** The file and the variant that a URL names. */
export interface AddressedFile {
  id: string
  access_key: string
  variant: Variant
}

const addressPattern = /^\/files\/([^/]+)\/([^/]+)\/([a-z]+)$/

/** Parses a URL of a file. Null: another file URL of this service. Undefined: any other URL. */
export function parseFileAddress(address: string, bases: readonly string[]): AddressedFile | null | undefined {
  const text = address.trim()
  if (!URL.canParse(text)) return undefined
  const { host, pathname, search, protocol } = new URL(text)
  if (protocol !== 'https:' && protocol !== 'http:') return undefined
  if (!pathname.startsWith('/files/') || !bases.some((base) => URL.canParse(base) && new URL(base).host === host))
    return undefined
  const [, id = '', access_key = '', variant = ''] = addressPattern.exec(pathname) ?? []
  return search === '' && isVariant(variant) ? { id, access_key, variant } : null
}

/** Types that every mail program shows. Other types and large files are sent as the `optimized` variant. */
const mailTypes = ['image/png', 'image/jpeg', 'image/gif']
const maxMailBytes = 500_000

export const pickMailVariant = ({ mime_type, size }: { mime_type: string; size: number }): Variant =>
  mailTypes.includes(mime_type) && size <= maxMailBytes ? 'original' : 'optimized'

interface SignedAddress {
  file: { id: string; access_key: string }
  reader?: AddressReader
  now: number
}

/** The URL of a file's original bytes, which works for 15 minutes. */
export function signFileAddress(
  filesUrl: string,
  secret: string,
  { file, reader = 'person', now }: SignedAddress,
): string {
  const content = { fileId: file.id, code: readers.indexOf(reader), endsAt: now + signedAddressMs }
  return `${buildFileAddress(filesUrl, file, 'original')}?token=${signFileToken(secret, signer, content)}`
}

/** Who the token of a signed URL is for. Null: the token is forged, expired, or of another file. */
export function openSignedAddress(
  secrets: readonly string[],
  token: string,
  fileId: string,
  now: number,
): AddressReader | null {
  const content = openFileToken(secrets, signer, token, now)
  return content?.fileId === fileId ? (readers[content.code] ?? null) : null
}

/** The prefix of the variants of stored bytes. Files with equal bytes share their variants. */
export const buildDerivedPrefix = (storageKey: string): string => `derived/${storageKey}/`

export const buildDerivedKey = (storageKey: string, variant: DerivedVariant): string =>
  `${buildDerivedPrefix(storageKey)}${variant}.webp`

/** The storage key of the original bytes, for their own key or the key of a variant. */
export const parseStorageKey = (key: string): string => /^derived\/(.+)\/[^/]+$/.exec(key)?.[1] ?? key
