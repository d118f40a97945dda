import { allBlocks, type Block, type ImageData, type PlainBlock } from './blocks.ts'

type ImagePath = (string | number)[]

/** The images of a message with the way to each from the message. */
export const imagesIn = (blocks: readonly Block[]): { data: ImageData; path: ImagePath }[] =>
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
export const blocksShown = (blocks: readonly Block[], filesUrl: string): Block[] =>
  withImages(blocks, (data) => {
    if (data.file_id === undefined) return data
    const { pathname } = new URL(data.url)
    return { ...data, url: filesUrl + pathname }
  })
