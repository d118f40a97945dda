import { listBlocks, type Block, type ImageData, type PlainBlock } from './blocks.ts'

type ImagePath = (string | number)[]

/** Every image with its path in the message. */
export const listImages = (blocks: readonly Block[]): { data: ImageData; path: ImagePath }[] =>
  listBlocks(blocks).flatMap(({ block, path }) =>
    block.type === 'image' ? [{ data: block.data, path: [...path, 'data'] }] : [],
  )

const mapImage = <Any extends Block | PlainBlock>(block: Any, change: (data: ImageData) => ImageData): Any =>
  block.type === 'image' ? { ...block, data: change(block.data) } : block

export const mapImages = (blocks: readonly Block[], change: (data: ImageData) => ImageData): Block[] =>
  blocks.map((block): Block => {
    if (block.type === 'columns') {
      const columns = block.data.columns.map((column) => ({
        ...column,
        blocks: column.blocks.map((nestedBlock) => mapImage(nestedBlock, change)),
      }))
      return { ...block, data: { ...block.data, columns } }
    }
    return mapImage(block, change)
  })

/** Stored addresses of files keep the host of their time; this replaces it by the host that serves files now. */
export const updateFileUrls = (blocks: readonly Block[], filesUrl: string): Block[] =>
  mapImages(blocks, (data) => {
    if (data.file_id === undefined) return data
    const { pathname } = new URL(data.url)
    return { ...data, url: filesUrl + pathname }
  })
