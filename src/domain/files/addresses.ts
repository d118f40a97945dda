import type { TokenSigner } from '../accounts/signed-tokens.ts'
import { openFileToken, signFileToken } from './expiring-tokens.ts'

const variants = ['thumbnail', 'optimized', 'large', 'original'] as const
export type Variant = (typeof variants)[number]
export type MadeVariant = Exclude<Variant, 'original'>

export const isVariant = (name: string): name is Variant => variants.some((variant) => variant === name)

/** Files of imports contain personal data, so they have no permanent address. */
export const isPrivate = ({ purpose }: { purpose: string }): boolean => purpose === 'import'

const signedAddressMs = 900_000

/** The reader of an address: a scanner may read files in quarantine. */
const readers = ['person', 'scanner'] as const
export type AddressReader = (typeof readers)[number]

const signer: TokenSigner = { purpose: 'file-addresses', macBytes: 16 }

export const buildFileAddress = (
  filesUrl: string,
  file: { id: string; access_key: string },
  variant: Variant,
): string => `${filesUrl}/files/${file.id}/${file.access_key}/${variant}`

/** The addresses of an image. An address is the permission to see the image: the key is in it. */
export const buildImageAddresses = (filesUrl: string, file: { id: string; access_key: string }) => ({
  thumbnail: buildFileAddress(filesUrl, file, 'thumbnail'),
  optimized: buildFileAddress(filesUrl, file, 'optimized'),
  large: buildFileAddress(filesUrl, file, 'large'),
  original: buildFileAddress(filesUrl, file, 'original'),
})

/** The addresses of an image that may be missing. */
export const buildImageOrNull = (filesUrl: string, id: string | null, accessKey: string | null) =>
  id === null || accessKey === null ? null : buildImageAddresses(filesUrl, { id, access_key: accessKey })

/** A file as the address of one of its variants names it. */
export interface AddressedFile {
  id: string
  access_key: string
  variant: Variant
}

const partsOf = /^\/files\/([^/]+)\/([^/]+)\/([a-z]+)$/

/** The file that an address of this service names; null for another address of this service, undefined for foreign ones. */
export function parseFileAddress(address: string, bases: readonly string[]): AddressedFile | null | undefined {
  const text = address.trim()
  if (!URL.canParse(text)) return undefined
  const { host, pathname, search, protocol } = new URL(text)
  if (protocol !== 'https:' && protocol !== 'http:') return undefined
  if (!pathname.startsWith('/files/') || !bases.some((base) => URL.canParse(base) && new URL(base).host === host))
    return undefined
  const [, id = '', access_key = '', variant = ''] = partsOf.exec(pathname) ?? []
  return search === '' && isVariant(variant) ? { id, access_key, variant } : null
}

/** Types that every mail program shows. For other types and large files the variant for screens is used. */
const shownEverywhere = ['image/png', 'image/jpeg', 'image/gif']
const maxMailBytes = 500_000

export const pickMailVariant = ({ mime_type, size }: { mime_type: string; size: number }): Variant =>
  shownEverywhere.includes(mime_type) && size <= maxMailBytes ? 'original' : 'optimized'

interface SignedAddress {
  file: { id: string; access_key: string }
  reader?: AddressReader
  now: number
}

/** The address of a file's own bytes for 15 minutes, also of a file without a permanent address. */
export function signFileAddress(
  filesUrl: string,
  secret: string,
  { file, reader = 'person', now }: SignedAddress,
): string {
  const content = { fileId: file.id, mark: readers.indexOf(reader), endsAt: now + signedAddressMs }
  return `${buildFileAddress(filesUrl, file, 'original')}?token=${signFileToken(secret, signer, content)}`
}

/** The reader for whom a token opens this file; null for a forged or expired token, or one of another file. */
export function openSignedAddress(secret: string, token: string, fileId: string, now: number): AddressReader | null {
  const opened = openFileToken(secret, signer, token, now)
  return opened?.fileId === fileId ? (readers[opened.mark] ?? null) : null
}

/** The prefix of variants of stored bytes, which are deleted with them. Files with equal bytes share them. */
export const buildDerivedPrefix = (storageKey: string): string => `derived/${storageKey}/`

export const buildDerivedKey = (storageKey: string, variant: MadeVariant): string =>
  `${buildDerivedPrefix(storageKey)}${variant}.webp`

/** The stored bytes that a key belongs to: its own, or those that a variant was made from. */
export const parseStorageKey = (key: string): string => /^derived\/(.+)\/[^/]+$/.exec(key)?.[1] ?? key
