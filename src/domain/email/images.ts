import { fileAddress, isVariant, type Variant } from '../files/addresses.ts'
import { allBlocks, type Block, type ImageData, type PlainBlock } from './blocks.ts'

/** A file as the address of one of its variants names it. */
export interface AddressedFile {
  id: string
  access_key: string
  variant: Variant
}

const partsOf = /^\/files\/([^/]+)\/([^/]+)\/([a-z]+)$/

/** The file that an address of this service names, null for an address of ours that names none, undefined for others'. */
export function fileOfAddress(address: string, bases: readonly string[]): AddressedFile | null | undefined {
  const text = address.trim()
  if (!URL.canParse(text)) return undefined
  const { host, pathname, search, protocol } = new URL(text)
  if (protocol !== 'https:' && protocol !== 'http:') return undefined
  if (!pathname.startsWith('/files/') || !bases.some((base) => URL.canParse(base) && new URL(base).host === host))
    return undefined
  const [, id = '', access_key = '', variant = ''] = partsOf.exec(pathname) ?? []
  return search === '' && isVariant(variant) ? { id, access_key, variant } : null
}

/** What every mail program shows; of others, and of large ones, the variant for screens is taken. */
const shownEverywhere = ['image/png', 'image/jpeg', 'image/gif']
const maxMailBytes = 500_000

export const mailVariant = ({ mime_type, size }: { mime_type: string; size: number }): Variant =>
  shownEverywhere.includes(mime_type) && size <= maxMailBytes ? 'original' : 'optimized'

export type Place = (string | number)[]

/** The images of a message with the way to each from the message. */
export const imagesIn = (blocks: readonly Block[]): { data: ImageData; path: Place }[] =>
  allBlocks(blocks).flatMap(({ block, path }) =>
    block.type === 'image' ? [{ data: block.data, path: [...path, 'data'] }] : [],
  )

const withImage = (block: PlainBlock, change: (data: ImageData) => ImageData): PlainBlock =>
  block.type === 'image' ? { ...block, data: change(block.data) } : block

/** The blocks with other images. */
export const withImages = (blocks: readonly Block[], change: (data: ImageData) => ImageData): Block[] =>
  blocks.map((block): Block => {
    if (block.type === 'columns') {
      const columns = block.data.columns.map((column) => ({
        ...column,
        blocks: column.blocks.map((one) => withImage(one, change)),
      }))
      return { ...block, data: { ...block.data, columns } }
    }
    return block.type === 'image' ? { ...block, data: change(block.data) } : block
  })

/** Stored blocks whose files have the addresses where files are served now. */
export function blocksShown(text: string, filesUrl: string): Block[] {
  const blocks = JSON.parse(text) as Block[]
  if (!text.includes('"file_id"')) return blocks
  return withImages(blocks, (data) => {
    if (data.file_id === undefined) return data
    const { pathname } = new URL(data.url)
    return { ...data, url: filesUrl + pathname }
  })
}

export const imageAddress = (filesUrl: string, { id, access_key, variant }: AddressedFile): string =>
  fileAddress(filesUrl, { id, access_key }, variant)
