import { Button, FileButton, Group, Paper, Stack, Text } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'

interface Props {
  /** The label of the button that chooses a file. */
  label: string
  /** It names the files that can be dropped here, and their largest size. */
  hint: ReactNode
  accept?: string
  isMultiple?: boolean
  onFiles: (files: File[]) => void
  /** Other ways to bring a file, beside the button. */
  children?: ReactNode
}

/** A place to drop files, with a button that chooses them. */
export function DropZone({ label, hint, accept, isMultiple = false, onFiles, children }: Props) {
  const [isOver, setOver] = useState(false)
  return (
    <Paper
      className="drop-zone"
      p="lg"
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        const files = [...event.dataTransfer.files]
        if (files.length > 0) onFiles(isMultiple ? files : files.slice(0, 1))
      }}
    >
      <Stack align="center" gap="xs" ta="center">
        <Group gap="xs" justify="center">
          <FileButton
            accept={accept}
            multiple={isMultiple}
            onChange={(files) => {
              const list = Array.isArray(files) ? files : files ? [files] : []
              if (list.length > 0) onFiles(list)
            }}
          >
            {(props) => (
              <Button {...props} leftSection={<IconUpload size={16} aria-hidden />}>
                {label}
              </Button>
            )}
          </FileButton>
          {children}
        </Group>
        <Text size="sm" c="dimmed">
          {hint}
        </Text>
      </Stack>
    </Paper>
  )
}
