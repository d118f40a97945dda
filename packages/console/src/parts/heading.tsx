import { Anchor, Group, Stack, Text, Title } from '@mantine/core'
import { IconChevronLeft } from '@tabler/icons-react'
import { type LinkProps, Link } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'

interface Props {
  title: string
  /** A status beside the title. */
  mark?: ReactNode
  /** One line of facts below the title. */
  facts?: ReactNode
  back?: { link: LinkProps; label: string }
  /** The buttons of the page. */
  actions?: ReactNode
}

/** The head of a page. The title is its h1 and the name of the tab. */
export function Heading({ title, mark, facts, back, actions }: Props) {
  useEffect(() => {
    document.title = `${title} · Event Commerce`
  }, [title])
  return (
    <Group justify="space-between" align="end" gap="sm">
      <Stack gap={2} miw={0} flex="1 1 260px">
        {back && (
          <Anchor size="sm" w="fit-content" renderRoot={(props) => <Link {...back.link} {...props} />}>
            <Group gap={2} wrap="nowrap">
              <IconChevronLeft size={14} aria-hidden />
              {back.label}
            </Group>
          </Anchor>
        )}
        <Group gap="sm">
          <Title order={1} size="h3" className="break">
            {title}
          </Title>
          {mark}
        </Group>
        {facts && (
          <Text size="sm" c="dimmed" component="div">
            {facts}
          </Text>
        )}
      </Stack>
      {actions && <Group gap="xs">{actions}</Group>}
    </Group>
  )
}
