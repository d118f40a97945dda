import { Center, Group, Paper, Stack, Text } from '@mantine/core'
import { IconQrcode } from '@tabler/icons-react'
import { useEdition } from '../../caller'
import { formatTime, loadWords } from '../../words'

const catalogueWords = await loadWords('catalogue')

const t = catalogueWords.passDesigns.sample
/** The colours that phones show where a design has none. */
const platform = { background: '#ffffff', text: '#000000', label: '#5b6470' }

interface Design {
  background_color: string | null
  foreground_color: string | null
  label_color: string | null
  logo_text: string | null
}

/** A picture of a pass, about as the wallet of a phone shows it. */
export function PassPicture({
  design,
  product,
  isSmall,
}: {
  design: Design
  product?: string | undefined
  isSmall?: boolean
}) {
  const edition = useEdition()
  const background = design.background_color || platform.background
  const text = design.foreground_color || platform.text
  const label = design.label_color || platform.label
  if (isSmall)
    return (
      <Paper withBorder bg={background} w={44} h={28} px={4} component="span" aria-hidden>
        <Text c={text} size="xs" fw={700} truncate component="span">
          Aa
        </Text>
      </Paper>
    )
  const field = (name: string, value: string) => (
    <div>
      <Text size="xs" tt="uppercase" c={label}>
        {name}
      </Text>
      <Text size="sm" c={text} className="break">
        {value}
      </Text>
    </div>
  )
  return (
    <Paper
      withBorder
      bg={background}
      p="md"
      radius="lg"
      maw={300}
      mx="auto"
      shadow="sm"
      role="img"
      aria-label={catalogueWords.passDesigns.picture}
    >
      <Stack gap="md">
        <Text c={text} fw={700} className="break">
          {design.logo_text || (edition?.organization.name ?? '')}
        </Text>
        <div>
          <Text size="xs" tt="uppercase" c={label}>
            {t.event}
          </Text>
          <Text size="xl" c={text} lh={1.2} className="break">
            {edition?.full_name}
          </Text>
        </div>
        {edition?.start_date && field(t.starts, formatTime(edition.start_date, edition.timezone))}
        <Group justify="space-between" grow align="start">
          {field(t.ticket, product ?? catalogueWords.products.one)}
          {field(t.holder, t.holderName)}
        </Group>
        <Center>
          <Paper bg="white" c="black" p={6} radius="sm">
            <IconQrcode size={110} stroke={1} aria-hidden />
          </Paper>
        </Center>
      </Stack>
    </Paper>
  )
}
