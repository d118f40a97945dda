export interface ImageShape {
  width: number
  height?: number
  /** `crop` fills the shape and cuts what is outside; `scale-down` fits in. Neither makes an image larger. */
  fit: 'crop' | 'scale-down'
}

/** Makes images of another shape. */
export interface ImagesGateway {
  /**
   * One still image as WebP: rotated as its metadata says, and without the metadata. Throws where the image cannot be
   * read, or where the service fails.
   */
  toWebp: (image: ReadableStream<Uint8Array>, shape: ImageShape) => Promise<Uint8Array<ArrayBuffer>>
}

const quality = 82
/** The most bytes of a variant; a longer answer is refused. */
const maxBytes = 20_000_000

async function readCapped(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.byteLength
    if (size > maxBytes) throw new Error(`The image is larger than ${maxBytes} bytes.`)
    chunks.push(chunk as Uint8Array<ArrayBuffer>)
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

/** The Images binding of the platform. It turns images by itself, and WebP that it makes has no metadata. */
export const imagesBinding = (binding: ImagesBinding): ImagesGateway => ({
  async toWebp(image, shape) {
    // Of an animation only the first frame: a small file can hold very many.
    const result = await binding.input(image).transform(shape).output({ format: 'image/webp', quality, anim: false })
    return readCapped(result.image())
  },
})
