/* SPDX-License-Identifier: MIT */
/* A C++ program to be probed: names in namespaces and classes, overloads, templates, references. */
#include <cstdio>

namespace ns
{
struct In {
	int x;
	char name[8];
};

class Foo
{
    public:
	int m = 3;
	int run(int k, const In &in);
	template <class T> T add(T v);
	~Foo();
};

__attribute__((noinline)) int Foo::run(int k, const In &in)
{
	return printf("%d %s\n", k, in.name) + m;
}

template <class T> __attribute__((noinline)) T Foo::add(T v)
{
	m += (int)v;
	return printf("%d\n", m) ? v : 0;
}

__attribute__((noinline)) Foo::~Foo()
{
	puts("gone");
}

__attribute__((noinline)) int over(int a)
{
	return printf("int %d\n", a);
}

__attribute__((noinline)) int over(long a)
{
	return printf("long %ld\n", a);
}
} // namespace ns

__attribute__((noinline)) int refs(int &n, ns::In *&p, ns::In &&moved, int (&list)[3], const char *&text)
{
	return printf("%d %d %d %d %s\n", n, p->x, moved.x, list[1], text);
}

int main()
{
	ns::In in = { 7, "seven" }, *p = &in;
	int list[3] = { 1, 2, 3 }, n;
	const char *text = "text";
	ns::Foo f;

	for (int i = 0; i < 3; i++) {
		n = 40 + i;
		f.run(i, in);
		refs(n, p, ns::In{ 9, "nine" }, list, text);
	}
	f.add<int>(1);
	f.add<long>(2);
	return ns::over(5) + ns::over(6L) > 100;
}
